require 'openid_connect'

config = OpenIDConnect::Discovery::Provider::Config.discover!('https://localhost:8443/idp/demo/v2.0')
client = OpenIDConnect::Client.new(
  identifier: 'pms-demo', secret: 'pms-demo-secret', token_endpoint: config.token_endpoint
)
puts client.access_token!(scope: 'api://clinical-launch/.default').access_token
