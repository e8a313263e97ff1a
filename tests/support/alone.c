/* alone: tests compile kernels as programs do that are a pipeline and nothing else. */
#include "../../runtime/device/cl.h"

__attribute__((constructor)) static void alone(void)
{
    dev_alone();
}
