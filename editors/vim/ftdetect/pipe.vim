au BufRead,BufNewFile *.pipe setfiletype pipe
