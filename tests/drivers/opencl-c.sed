# Leaves of the built-in functions that Clang's opencl-c.h declares those that kernels may call: no
# vectors but for loads and stores, conversions of four and one sum of eight, no half, no images.
/__ovld.*;$/ {
  /(char|short|int|long|float|double)(2|3|4|8|16)\b/ {
    /convert_[a-z]+4\(|v(load|store)[48]\(|fma\(float8/! d
  }
  /half|image|event|pipe|_explicit|work_group|sub_group|prefetch|atomic_flag/ d
  /convert_.*_rt[pz]\(/ d
}
