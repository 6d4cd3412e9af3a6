# SPDX-License-Identifier: GPL-2.0
# services.apogee.enable = true; services.apogee.default = "star";
{ config, lib, ... }:
let
  cfg = config.services.apogee;
  kernel = config.boot.kernelPackages.kernel;
  modules = config.boot.kernelPackages.callPackage (
    { stdenv }:
    stdenv.mkDerivation {
      pname = "apogee";
      version = "0.12.0-${kernel.version}";
      src = ../..;
      nativeBuildInputs = kernel.moduleBuildDependencies;
      buildPhase = ''
        make -C ${kernel.dev}/lib/modules/${kernel.modDirVersion}/build M=$PWD modules
      '';
      installPhase = ''
        install -D -m 644 -t $out/lib/modules/${kernel.modDirVersion}/updates *.ko */*.ko
      '';
      meta.license = lib.licenses.gpl2Only;
    }
  ) { };
in
{
  options.services.apogee = {
    enable = lib.mkEnableOption "congestion controls for long, lossy and shared paths";
    default = lib.mkOption {
      type = lib.types.nullOr lib.types.str;
      default = null;
      example = "star";
      description = "The congestion control of new connections.";
    };
  };
  config = lib.mkIf cfg.enable {
    boot.extraModulePackages = [ modules ];
    boot.kernelModules = lib.optional (cfg.default != null) "tcp_${cfg.default}";
    boot.kernel.sysctl = lib.mkIf (cfg.default != null) {
      "net.ipv4.tcp_congestion_control" = cfg.default;
    };
  };
}
