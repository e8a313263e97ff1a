# Leaves of the built-in functions that Clang's opencl-c.h declares those that kernels may call: no
# vectors but for the loads, stores and conversions of four, no half, no images.
/__ovld.*;$/ {
  /(char|short|int|long|float|double)(2|3|4|8|16)\b/ {
    /convert_[a-z]+4\(|v(load|store)4\(/! d
  }
  /half|image|event|pipe|_explicit|work_group|sub_group|prefetch|atomic_flag/ d
  /convert_.*_rt[pz]\(/ d
}
