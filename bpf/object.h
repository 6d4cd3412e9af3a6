/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the loader and an object share.
 */
#ifndef _BPF_OBJECT_H
#define _BPF_OBJECT_H

/* The section of the parameters. */
#define APOGEE_PARAMS	".rodata.params"

/**
 * struct apogee_param - a parameter
 * @name: as the module has it
 * @variable: the variable of the object that holds it
 * @text: the module's description
 * @lo: smallest value
 * @hi: largest value
 */
struct apogee_param {
	char name[20];
	char variable[32];
	char text[252];
	unsigned int lo;
	unsigned int hi;
};

/* Linux 7.1 and later have an operation of its own for the start of sending. The type's name
 * is the operation's, which the loader needs among the object's strings. An object that wants
 * to be told has a variable of this type.
 */
struct cwnd_event_tx_start {
	unsigned int is_operation;
};

#endif /* _BPF_OBJECT_H */
