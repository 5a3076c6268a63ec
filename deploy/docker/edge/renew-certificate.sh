#!/bin/bash
# Replaces the certificate of the running edge when its file changes, without a restart. If HAProxy cannot use
# the new file, the edge keeps the old certificate. Uses bash, because the image has no client for HAProxy's
# socket.

# Prints the certificate and, if it is separate, its private key. An empty line would end HAProxy's input.
read_certificate() { cat "$EDGE_CERTIFICATE" "$EDGE_CERTIFICATE.key" 2>/dev/null | grep -v '^[[:space:]]*$'; }

# Sends one command to HAProxy, and prints the answer on one line.
ask() {
    exec 3<>/dev/tcp/127.0.0.1/9091
    printf '%s\n\n' "$1" >&3
    tr -d '\n' <&3
    exec 3>&-
}

report() { printf '{"level":%s,"service":"edge","msg":"%s"}\n' "$1" "$2"; }

served=$(read_certificate | cksum)
report 30 "changes of the certificate are watched"
while sleep 10; do
    found=$(read_certificate | cksum)
    [ "$found" = "$served" ] && continue
    served=$found
    ask "set ssl cert $EDGE_CERTIFICATE <<
$(read_certificate)" >/dev/null
    if [[ $(ask "commit ssl cert $EDGE_CERTIFICATE") == *Success* ]]; then
        report 30 "the certificate was renewed"
    else
        ask "abort ssl cert $EDGE_CERTIFICATE" >/dev/null
        report 50 "the new certificate cannot be used, so the edge keeps the old one: check the file"
    fi
done
