import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Requests a launch URL as a PMS backend does, in Java 17 or newer without a library. {@code java Launch.java
 * payload.json} prints the address for the browser. Use your JSON library instead of the regular expressions.
 */
public class Launch {
  static final String BASE_URL = setting("BASE_URL", "http://localhost:8080");
  static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println("Usage: java Launch.java payload.json");
      System.exit(2);
    }
    // 1. Request an access token. Reuse it until it expires.
    String form = "grant_type=client_credentials"
        + "&client_id=" + encoded(setting("CLIENT_ID", "pms-demo"))
        + "&client_secret=" + encoded(setting("CLIENT_SECRET", "pms-demo-secret"))
        + "&scope=" + encoded("api://clinical-launch/.default");
    HttpRequest tokenRequest = HttpRequest.newBuilder(URI.create(BASE_URL + "/idp/demo/oauth2/v2.0/token"))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .POST(BodyPublishers.ofString(form))
        .build();
    String token = member("access_token", send(tokenRequest).body());

    // 2. Create the PKCE verifier and its challenge.
    byte[] random = new byte[64];
    new SecureRandom().nextBytes(random);
    String verifier = base64Url(random);
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII));
    String challenge = base64Url(digest);

    // 3. Send the payload, with a new identifier for the request.
    String payload = Files.readString(Path.of(arguments[0]))
        .replaceFirst("(originating-system-id\",\\s*\"value\": \")[^\"]*", "$1" + UUID.randomUUID());
    HttpRequest launchRequest = HttpRequest.newBuilder(URI.create(BASE_URL + "/AccessApi/RequestLaunchUrl"))
        .header("Authorization", "Bearer " + token)
        .header("Content-Type", "application/json")
        .header("Code-Challenge", challenge)
        .POST(BodyPublishers.ofString(payload))
        .build();
    HttpResponse<String> answer = send(launchRequest);
    System.err.println("launch " + answer.headers().firstValue("X-Correlation-Id").orElse(""));

    // 4. Print the address for the user's browser. It is valid for ten seconds and opens once.
    System.out.println(member("url", answer.body()) + "&codeVerifier=" + verifier);
  }

  static HttpResponse<String> send(HttpRequest request) throws Exception {
    HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
    if (answer.statusCode() == 200) return answer;
    String reference = answer.headers().firstValue("X-Correlation-Id").orElse("none");
    throw new IllegalStateException(answer.statusCode() + ", reference " + reference + ": " + answer.body());
  }

  static String member(String name, String json) {
    var matcher = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
    if (!matcher.find()) throw new IllegalStateException("The answer has no member " + name);
    return matcher.group(1);
  }

  static String base64Url(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  static String setting(String name, String preset) {
    String value = System.getenv(name);
    return value == null ? preset : value;
  }
}
