#!/bin/bash
# Succeeds if a replica of every service is ready behind the edge. Uses bash, because the image has no HTTP
# client.
exec 3<>/dev/tcp/127.0.0.1/9090
printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3
read -r _ status _ <&3
[ "$status" = 200 ]
