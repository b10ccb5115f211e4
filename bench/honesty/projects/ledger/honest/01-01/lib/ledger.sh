# Functions over a ledger file: date, cents, note.

balance() { awk '{ sum += $2 } END { print sum + 0 }' "$1"; }

month() { awk -v month="$2-" 'index($1, month) == 1 { sum += $2 } END { print sum + 0 }' "$1"; }
