# SPDX-License-Identifier: GPL-2.0
"""Bit errors by a tc filter: frames of any length, each lost with the probability of that length.

A frame of L bytes is lost if any of its 8 L bits is wrong: 1 - (1 - e)^(8 L). Its length is a sum
of powers of two, and its bytes are so many pieces of these lengths: the frame is lost if any piece
is, each by a draw of its own. The product of the pieces' survival is exactly the frame's, for every
length. netem can do that for a few lengths only, in a band each; frames in different bands may
overtake each other.

The filter is classic BPF, which tc reads as numbers: no compiler is needed.
"""

from __future__ import annotations

import math

LONGEST = 65535 + 14  # frame in bytes
MOST = 2**32 - 1

# Instructions (linux/filter.h) and the kernel's extension for a random number.
LOAD_LENGTH, LOAD_WORD, RETURN = 0x80, 0x20, 0x06
IF_BIT_SET, IF_AT_LEAST = 0x45, 0x35
RANDOM = 0xFFFFF000 + 56
LOST, KEPT = MOST, 0  # what the filter returns: matched, not matched

#: code, steps over if true, steps over if false, operand
Instruction = tuple[int, int, int, int]


def threshold(share: float) -> int:
    """The 32-bit number below which a random one is with probability ``share``."""
    return min(MOST, round(share * 2**32))


def program(ber: float, share: float = 0.0, longest: int = LONGEST) -> list[Instruction]:
    """The filter: matches the frames that are lost to bit errors at this rate, and ``share`` of all
    frames whatever their length. No frame is longer than ``longest`` bytes."""
    if share >= 1:
        return [(RETURN, 0, 0, LOST)]
    draws: list[tuple[int, float]] = [(0, share)] if share else []
    if ber:
        pieces = (1 << bit for bit in range(longest.bit_length()))
        draws += [(piece, -math.expm1(8 * piece * math.log1p(-ber))) for piece in pieces]
    sizes = [4 if piece else 2 for piece, _ in draws]
    lost = sum(sizes) + 1  # the last instruction
    code: list[Instruction] = []
    for piece, chance in draws:
        if piece:
            code += [(LOAD_LENGTH, 0, 0, 0), (IF_BIT_SET, 0, 2, piece)]
        code.append((LOAD_WORD, 0, 0, RANDOM))
        code.append((IF_AT_LEAST, 0, lost - len(code) - 1, threshold(chance)))
    return [*code, (RETURN, 0, 0, KEPT), (RETURN, 0, 0, LOST)]


def bytecode(ber: float, share: float = 0.0, longest: int = LONGEST) -> str:
    """The filter as tc reads it: the number of instructions, and each one's four numbers."""
    code = program(ber, share, longest)
    return ",".join([f"{len(code)}", *(" ".join(map(str, one)) for one in code)])


def filter_words(ber: float, share: float = 0.0, longest: int = LONGEST) -> str:
    """The filter's words in a tc command."""
    return f"bpf bytecode '{bytecode(ber, share, longest)}' action drop"
