if grep -q done part6.txt; then echo PASS: done; else echo FAIL: done; exit 1; fi
