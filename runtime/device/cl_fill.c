/*
 * cl_fill: NVIDIA's driver 580 fills only the beginning of buffers of many GiB, and loses the
 * device when the place is more than 8 GiB from a buffer's start.  A kernel does not.
 */
#include "cl_fill.h"

enum { GROUP = 256, GROUPS_A_UNIT = 8 };

static const char TEXT[] = "kernel void fill(global uint *to, ulong at, ulong words, uint word)\n"
                           "{\n"
                           "    for (ulong i = get_global_id(0); i < words; i += get_global_size(0)) {\n"
                           "        to[at + i] = word;\n"
                           "    }\n"
                           "}\n";

bool cl_fill_words(Device *dev, DevMem *mem, size_t offset, size_t words, uint32_t word, Err *err)
{
    int units = dev_info(dev)->units;
    const size_t group[3] = {GROUP, 1, 1};
    const size_t groups[3] = {(size_t)(units > 0 ? units : 1) * GROUPS_A_UNIT, 1, 1};
    const DevArg args[] = {dev_mem(mem), dev_ulong(offset / 4), dev_ulong(words), dev_uint(word)};
    DevProgram *program;
    DevKernel *kernel;
    return dev_program(dev, "fill", TEXT, NULL, &program, err) && dev_kernel(program, "fill", &kernel, err) &&
           dev_launch(dev, kernel, args, 4, groups, group, "fill", err);
}
