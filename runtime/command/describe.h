/*
 * describe: what a program says about itself: --help, --version and --describe, all made from the
 * program and from the table of options.
 */
#ifndef RUNTIME_DESCRIBE_H
#define RUNTIME_DESCRIBE_H

#include "../../program/program.h"

#include <stdio.h>

/* `command`: how the program is called. */
void describe_help(const Program *program, const char *command, FILE *to);
void describe_options(FILE *to); /* what every program has, as a part of its help */
void describe_version(const Program *program, FILE *to);
void describe_text(const Program *program, FILE *to);
void describe_json(const Program *program, FILE *to);

#endif
