#!/bin/bash
# Watches the certificate in the background, if there is one. `exec` makes HAProxy the process that receives
# the stop signal.
[ -n "$EDGE_CERTIFICATE" ] && bash /usr/local/bin/renew-certificate.sh &
exec haproxy -db -f /etc/haproxy/haproxy.cfg
