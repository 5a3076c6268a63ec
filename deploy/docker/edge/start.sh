#!/bin/bash
# Starts HAProxy as the process that receives the stop signal.
[ -n "$EDGE_CERTIFICATE" ] && bash /usr/local/bin/renew-certificate.sh &
exec haproxy -db -f /etc/haproxy/haproxy.cfg
