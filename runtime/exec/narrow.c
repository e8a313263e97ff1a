/*
 * narrow: a group goes along a row, some pixels at a time: all of its work-items have read theirs before one writes, and
 * what is written lies before what is yet to be read.  So no other memory is needed.
 */
#include "narrow.h"

enum { GROUP = 256 };

/* Rows are longer than they are wide, up to a multiple of 16 pixels. */
static const char TEXT[] = "#pragma OPENCL FP_CONTRACT OFF\n"
                           "kernel void narrow(global uint *image, ulong pitch, ulong width)\n"
                           "{\n"
                           "    global uint *row = image + get_group_id(0) * pitch;\n"
                           "    for (ulong at = 0; at < width; at += 4 * FOURS * get_local_size(0)) {\n"
                           "        ulong x = at + 4 * FOURS * get_local_id(0);\n"
                           "        uint4 wide[FOURS];\n"
                           "        for (int k = 0; k < FOURS; k++) {\n"
                           "            wide[k] = x < width ? ((global uint4 *)(row + x))[k] : (uint4)(0);\n"
                           "        }\n"
                           "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
                           "        for (int k = 0; k < FOURS && x < width; k++) {\n"
                           "            ((global uint2 *)(row + x / 2))[k] = wide[k].even | wide[k].odd << 16;\n"
                           "        }\n"
                           "    }\n"
                           "}\n";

bool narrow_program(Device *dev, bool cpu, DevProgram **program, Err *err)
{
    return dev_program(dev, "narrow", TEXT, cpu ? "-DFOURS=4" : "-DFOURS=1", program, err);
}

bool narrow_rows(Device *dev, bool cpu, DevMem *mem, size_t rows, size_t width, size_t pitch, Err *err)
{
    const size_t most = dev_info(dev)->max_group;
    const size_t groups[3] = {rows, 1, 1}, group[3] = {cpu ? 1 : most < GROUP ? most : GROUP, 1, 1};
    const DevArg args[] = {dev_mem(mem), dev_ulong(pitch), dev_ulong(width)};
    DevProgram *program;
    DevKernel *kernel;
    return narrow_program(dev, cpu, &program, err) && dev_kernel(program, "narrow", &kernel, err) &&
           dev_launch(dev, kernel, args, 3, groups, group, "labels to 16 bits", err);
}
