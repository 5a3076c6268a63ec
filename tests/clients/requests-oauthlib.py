import requests
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

issuer = "https://localhost:8443/idp/demo/v2.0"
configuration = requests.get(f"{issuer}/.well-known/openid-configuration").json()
client = BackendApplicationClient("pms-demo", scope=["api://clinical-launch/.default"])
token = OAuth2Session(client=client).fetch_token(configuration["token_endpoint"], client_secret="pms-demo-secret")
print(token["access_token"])
