setlocal commentstring=#\ %s shiftwidth=4 expandtab
