# Functions over a ledger file: date, cents, note.

balance() { awk '{ sum += $2 } END { print sum + 0 }' "$1"; }
