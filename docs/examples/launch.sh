#!/bin/sh
# Requests a launch URL as a PMS backend does, with curl, openssl and jq.
# `sh launch.sh payload.json` prints the address for the browser.
set -eu
BASE_URL=${BASE_URL:-http://localhost:8080}
CLIENT_ID=${CLIENT_ID:-pms-demo}
CLIENT_SECRET=${CLIENT_SECRET:-pms-demo-secret}
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# 1. Request an access token. Reuse it until it expires.
TOKEN=$(curl -sS --fail-with-body "$BASE_URL/idp/demo/oauth2/v2.0/token" \
  -d grant_type=client_credentials -d "client_id=$CLIENT_ID" -d "client_secret=$CLIENT_SECRET" \
  -d scope=api://clinical-launch/.default | jq -r .access_token)

# 2. Create the PKCE verifier and its challenge.
VERIFIER=$(openssl rand 64 | base64url)
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | base64url)

# 3. Send the payload, with a new identifier for the request.
URL=$(jq --arg id "$(openssl rand -hex 16)" '.identifier[0].value = $id' "$1" |
  curl -sS --fail-with-body "$BASE_URL/AccessApi/RequestLaunchUrl" -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' -H "Code-Challenge: $CHALLENGE" --data-binary @- | jq -r .url)

# 4. Print the address for the user's browser. It is valid for ten seconds and opens once.
echo "$URL&codeVerifier=$VERIFIER"
