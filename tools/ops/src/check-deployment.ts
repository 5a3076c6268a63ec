import { parseAllDocuments } from 'yaml';
import { checkReferences, type KubernetesObject } from './check-references.ts';

/** A value of a manifest that the operator must replace. */
export type Placeholder = {
  readonly object: string;
  /** The path of the value in the object, such as `spec.rules[0].host`. */
  readonly path: string;
  readonly value: string;
};

/**
 * Matches the values of k8s/ that are marked CHANGE: names reserved for examples (RFC 2606), and networks
 * reserved for documentation (RFC 5737). Also matches digests of zeros, the realm and the stores called
 * `example`, and images without a registry.
 */
const placeholder =
  /\bexample\.(?:org|com|net)\b|\.example\b|\b(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d|@sha256:0{64}|^example(?:\/|$)|^clinical-launch(?:-[a-z]+)?(?:[:@]|$)/;

/** Matches the paths of names and labels of our own objects, whose values look like images. */
const ownNames =
  /^(?:metadata|.*(?<!\.secretStoreRef)\.(?:name|namespace|labels|matchLabels)(?:\.|$))|\.app\.kubernetes\.io\//;

/**
 * Finds the placeholders in rendered manifests, and the Secrets and ConfigMaps that the manifests reference
 * but do not contain. Ignores comments, even in the files of a ConfigMap.
 * @throws Error if the text is not YAML
 */
export function checkDeployment(text: string): {
  objects: number;
  placeholders: readonly Placeholder[];
} & ReturnType<typeof checkReferences> {
  const documents = parseAllDocuments(text);
  const objects = ('empty' in documents ? [] : documents).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as KubernetesObject;
  });
  const placeholders = objects.flatMap((object) =>
    textsOf(object, '')
      .filter(({ path }) => !ownNames.test(path))
      .flatMap(({ path, value }) => {
        const line = value.split('\n').find((each) => !comment.test(each) && placeholder.test(each));
        const named = `${object.kind} ${object.metadata?.name}`;
        return line === undefined ? [] : [{ object: named, path, value: line.trim() }];
      }),
  );
  return { objects: objects.length, placeholders, ...checkReferences(objects) };
}

/** Matches a comment in a file of a ConfigMap. */
const comment = /^\s*#/;

function textsOf(value: unknown, path: string): readonly { path: string; value: string }[] {
  if (typeof value === 'string') return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsOf(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    textsOf(item, path === '' ? name : `${path}.${name}`),
  );
}
