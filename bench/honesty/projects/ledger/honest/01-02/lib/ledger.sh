# Functions over a ledger file: date, cents, note.

balance() { awk '{ sum += $2 } END { print sum + 0 }' "$1"; }

month() { awk -v month="$2-" 'index($1, month) == 1 { sum += $2 } END { print sum + 0 }' "$1"; }

report() {
  local name
  cut -c1-7 "$1" | sort -u | while read -r name; do echo "$name $(month "$1" "$name")"; done
}
