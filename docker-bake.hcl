# The images of a release, for amd64 and arm64, with a bill of materials (SBOM) and the provenance of the
# build:
#
#   REGISTRY=ghcr.io/example/ VERSION=1.0.0 docker buildx bake -f docker-bake.hcl --push
#
# Without -f, bake would also read docker-compose.yml. Needs a builder that supports several platforms
# (`docker buildx create --use`). For this machine alone, use `docker compose build`. A label without a value
# is omitted, so no image states a false origin.

variable "REGISTRY" {
  # The registry of the images, with a slash at its end.
  default = ""
}
variable "VERSION" {
  default = ""
}
variable "REVISION" {
  # The commit that is built.
  default = ""
}
variable "SOURCE" {
  # The address of the repository.
  default = ""
}

group "default" {
  targets = ["services", "operator", "sandbox", "edge", "waf"]
}

target "release" {
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=provenance,mode=max", "type=sbom"]
  labels = {
    "org.opencontainers.image.version"  = VERSION == "" ? null : VERSION
    "org.opencontainers.image.revision" = REVISION == "" ? null : REVISION
    "org.opencontainers.image.source"   = SOURCE == "" ? null : SOURCE
  }
}
function "tags" {
  params = [name]
  result = ["${REGISTRY}${name}:${VERSION == "" ? "local" : VERSION}"]
}

target "services" {
  inherits   = ["release"]
  dockerfile = "deploy/docker/Dockerfile"
  target     = "services"
  tags       = tags("clinical-launch")
}
target "operator" {
  inherits = ["services"]
  target   = "operator"
  tags     = tags("clinical-launch-operator")
}
target "sandbox" {
  inherits = ["services"]
  target   = "sandbox"
  tags     = tags("clinical-launch-sandbox")
}
target "edge" {
  inherits = ["release"]
  context  = "deploy/docker/edge"
  tags     = tags("clinical-launch-edge")
}
target "waf" {
  inherits   = ["release"]
  context    = "deploy"
  dockerfile = "waf/Dockerfile"
  tags       = tags("clinical-launch-waf")
}
# The manifests of a release for Flux and Argo CD: one layer, with the files that tools/release/manifests.ts writes.
target "manifests" {
  inherits          = ["release"]
  platforms         = ["linux/amd64"]
  attest            = ["type=provenance,disabled=true", "type=sbom,disabled=true"]
  context           = "manifests"
  dockerfile-inline = "FROM scratch\nCOPY . /\n"
  tags              = tags("clinical-launch-manifests")
}
# For vendors, not for a deployment. Run `npm run build:twin` first.
target "twin" {
  inherits   = ["release"]
  context    = "sandbox/twin/dist"
  dockerfile = "../../../deploy/docker/twin/Dockerfile"
  tags       = tags("clinical-launch-twin")
}
