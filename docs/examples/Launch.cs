// Requests a launch URL as a PMS backend does, in C# (.NET 8 or newer).
// Only the job `csharp` of .github/workflows/ci.yml compiles and runs this file: the tests do not install .NET.
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;

if (args.Length != 1)
{
    Console.Error.WriteLine("Usage: dotnet run payload.json");
    return 2;
}

string Setting(string name, string preset) => Environment.GetEnvironmentVariable(name) ?? preset;
string Base64Url(byte[] bytes) =>
    Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');

var baseUrl = Setting("BASE_URL", "http://localhost:8080");
using var http = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };

async Task<HttpResponseMessage> Send(HttpRequestMessage request)
{
    var answer = await http.SendAsync(request);
    if (answer.IsSuccessStatusCode) return answer;
    var reference = answer.Headers.GetValues("X-Correlation-Id").FirstOrDefault();
    throw new InvalidOperationException(
        $"{(int)answer.StatusCode}, reference {reference}: {await answer.Content.ReadAsStringAsync()}");
}

async Task<string> Member(HttpResponseMessage answer, string name) =>
    JsonNode.Parse(await answer.Content.ReadAsStringAsync())![name]!.GetValue<string>();

// 1. Request an access token. Reuse it until it expires.
var tokenRequest = new HttpRequestMessage(HttpMethod.Post, $"{baseUrl}/idp/demo/oauth2/v2.0/token")
{
    Content = new FormUrlEncodedContent(new Dictionary<string, string>
    {
        ["grant_type"] = "client_credentials",
        ["client_id"] = Setting("CLIENT_ID", "pms-demo"),
        ["client_secret"] = Setting("CLIENT_SECRET", "pms-demo-secret"),
        ["scope"] = "api://clinical-launch/.default",
    }),
};
var token = await Member(await Send(tokenRequest), "access_token");

// 2. Create the PKCE verifier and its challenge.
var verifier = Base64Url(RandomNumberGenerator.GetBytes(64));
var challenge = Base64Url(SHA256.HashData(Encoding.ASCII.GetBytes(verifier)));

// 3. Send the payload, with a new identifier for the request.
var payload = JsonNode.Parse(await File.ReadAllTextAsync(args[0]))!;
payload["identifier"]![0]!["value"] = Guid.NewGuid().ToString();
var launchRequest = new HttpRequestMessage(HttpMethod.Post, $"{baseUrl}/AccessApi/RequestLaunchUrl")
{
    Content = new StringContent(payload.ToJsonString(), Encoding.UTF8, "application/json"),
};
launchRequest.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
launchRequest.Headers.Add("Code-Challenge", challenge);
var launch = await Send(launchRequest);
Console.Error.WriteLine($"launch {launch.Headers.GetValues("X-Correlation-Id").First()}");

// 4. Print the address for the user's browser. It is valid for ten seconds and opens once.
Console.WriteLine($"{await Member(launch, "url")}&codeVerifier={verifier}");
return 0;
