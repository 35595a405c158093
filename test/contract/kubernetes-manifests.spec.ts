import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec?: object;
}

interface Kustomization {
  readonly resources: readonly string[];
}

/**
 * Published schemas of the Kubernetes resources, from the packages with the types of Kubernetes and of the operator.
 */
const KINDS = {
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  PrometheusRule,
  Secret,
  Service,
  ServiceAccount,
  ServiceMonitor,
};

const FOLDER = 'docker/kubernetes';
const files = globSync(`${FOLDER}/**/*.yaml`);
const kustomizations = files.filter((file) => file.endsWith('kustomization.yaml'));
const manifests = files.filter((file) => !kustomizations.includes(file));

const read = <Content>(file: string): Content => parse(readFileSync(file, 'utf8')) as Content;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Records which keys of a manifest the validator reads. The validator of a schema reads only the keys that it knows,
 * and a Kubernetes server rejects all other keys.
 */
function watched<Value>(value: Value, path: string, asked: Set<string>): Value {
  if (!isObject(value)) return value;
  return new Proxy(value, {
    get: (target, key, receiver) => {
      const child: unknown = Reflect.get(target, key, receiver);
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return child;
      asked.add(`${path}.${key}`);
      return watched(child, `${path}.${key}`, asked);
    },
  });
}

function pathsIn(value: unknown, path: string): string[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => [
    `${path}.${key}`,
    ...pathsIn(child, `${path}.${key}`),
  ]);
}

interface Model {
  validate(): void;
}

/** Returns the violations of the schema that belongs to the kind of the manifest. */
function troubles(manifest: Manifest): string[] {
  const Kind = KINDS[manifest.kind as keyof typeof KINDS] as new () => Model;
  const asked = new Set<string>();
  const model = new Kind();
  for (const [key, value] of Object.entries(manifest)) {
    asked.add(`.${key}`);
    Object.assign(model, { [key]: watched(value, `.${key}`, asked) });
  }
  try {
    model.validate();
  } catch (error) {
    return [String(error)];
  }
  return pathsIn(manifest, '').filter((path) => !asked.has(path));
}

describe('the manifests of Kubernetes', () => {
  it.each(manifests)('%s matches the schema of its kind', (file) => {
    const manifest = read<Manifest>(file);
    expect(Object.keys(KINDS)).toContain(manifest.kind);
    expect(troubles(manifest)).toEqual([]);
  });

  it.each(kustomizations)('%s lists only existing files, and omits only the example', (file) => {
    const { resources } = read<Kustomization>(file);
    const folder = dirname(file);
    expect(resources.filter((name) => !existsSync(join(folder, name)))).toEqual([]);
    const there = manifests.filter((name) => dirname(name) === folder);
    expect(there.filter((name) => !resources.includes(name.slice(folder.length + 1)))).toEqual(
      folder === FOLDER ? [`${FOLDER}/secret.example.yaml`] : [],
    );
  });

  it('have the same alerts as docker/prometheus', () => {
    const rule = read<Manifest>(`${FOLDER}/prometheus-rule.yaml`);
    expect(rule.spec).toEqual(read('docker/prometheus/alerts.yml'));
  });

  it('run migrations with the image of the new version', () => {
    expect(read<{ images: unknown }>(`${FOLDER}/migration/kustomization.yaml`).images).toEqual(
      read<{ images: unknown }>(`${FOLDER}/kustomization.yaml`).images,
    );
    const command = readFileSync(`${FOLDER}/migration/job.yaml`, 'utf8');
    const [, script = ''] = /node, dist\/(cli\/[\w-]+)\.js/.exec(command) ?? [];
    expect(existsSync(`src/${script}.ts`)).toBe(true);
  });
});
