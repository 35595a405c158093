import { globSync, readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { parseAllDocuments } from 'yaml';
import { declaredSettings, loadSettings } from '../../src/platform/config/settings.js';

const NAME = /\b([a-z]\w*?)(?:_bucket|_sum|_count)?(?=\{|\[|\s*(?:\)|==|>|$))/g;
const FUNCTIONS_AND_LABELS = new Set(['by', 'le', 'and']);

const PINNED = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

interface Container {
  readonly image?: string;
  readonly user: string;
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface PodSpec {
  readonly containers: readonly [
    {
      readonly image: string;
      readonly securityContext: object;
      readonly env: readonly {
        readonly name: string;
        readonly value?: string;
        readonly valueFrom?: { readonly secretKeyRef: { readonly optional?: boolean } };
      }[];
    },
  ];
}

interface Selector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface Peer {
  readonly namespaceSelector?: Selector;
  readonly podSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Policy {
  readonly policyTypes: readonly string[];
  readonly ingress: readonly { readonly from: readonly Peer[] }[];
  readonly egress: readonly {
    readonly to: readonly Peer[];
    readonly ports: readonly { readonly port: number }[];
  }[];
}

function documentsOf(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8'), { merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

/** Returns all values of the key, at any depth. */
function valuesUnder(keys: readonly string[], value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    keys.includes(key) && typeof child === 'string' ? [child] : valuesUnder(keys, child),
  );
}

const metricsIn = (expression: string): string[] =>
  [...expression.replace(/by \([^)]*\)/g, '').matchAll(NAME)]
    .map(([, name]) => name ?? '')
    .filter((name) => !FUNCTIONS_AND_LABELS.has(name));

describe('the deployment files', () => {
  it('query only metrics that the source code defines', () => {
    const dashboard: unknown = JSON.parse(
      readFileSync('docker/grafana/dashboards/incident-triage.json', 'utf8'),
    );
    const alerts = documentsOf('docker/prometheus/alerts.yml');
    const expressions = [...valuesUnder(['expr'], dashboard), ...valuesUnder(['expr'], alerts)];
    const source = globSync('src/**/*.ts')
      .filter((file) => !file.endsWith('.spec.ts'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const used = new Set(expressions.flatMap(metricsIn));
    expect(used.size).toBeGreaterThan(30);
    // Prometheus itself provides `up`.
    used.delete('up');
    expect([...used].filter((name) => !source.includes(`'${name}'`))).toEqual([]);
  });

  it('set only settings that exist', () => {
    const known = new Set(declaredSettings.map(({ variable }) => variable));
    const [compose] = documentsOf('docker/compose.yaml') as [
      { services: { service: { environment: Record<string, string> } } },
    ];
    const unknown = Object.keys(compose.services.service.environment).filter(
      (variable) => !known.has(variable),
    );
    expect(unknown).toEqual([]);
  });

  it('contain no secret, because each secret comes from the environment', () => {
    const text = readFileSync('docker/compose.yaml', 'utf8');
    const secrets = text.match(/^.*(PASSWORD|SECRETS_KEY|TOKEN|API_KEY):.*$/gm) ?? [];
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.filter((line) => !/\$\{\w+:[?-]/.test(line))).toEqual([]);
  });

  it('list in the example file every variable that compose requires', () => {
    const demanded = readFileSync('docker/compose.yaml', 'utf8').matchAll(/\$\{(\w+)/g);
    const example = readFileSync('docker/compose.env.example', 'utf8');
    const missing = [...demanded].filter(([, name]) => !example.includes(`\n${name}=`));
    expect(missing.map(([, name]) => name)).toEqual([]);
  });

  describe('in Docker Compose', () => {
    const [{ services }] = documentsOf('docker/compose.yaml') as [
      { services: Record<string, Container> },
    ];

    it.each(Object.entries(services))('confine the container %s', (name, container) => {
      expect(container).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      expect(container).not.toHaveProperty('cap_add');
      expect(container).not.toHaveProperty('privileged');
      expect(container.user).toMatch(/^[1-9]\d*:\d+$/);
      // Compose cannot pass a secret from the environment to a container with a read-only file system.
      expect(container).not.toHaveProperty('secrets');
      if (name !== 'service') expect(container.image).toMatch(PINNED);
      for (const port of container.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    });

    it('list the proxy and its gateway as trusted proxies', () => {
      const [{ networks }] = documentsOf('docker/compose.yaml') as [
        { networks: Record<string, { ipam?: { config: [{ gateway: string }] } } | undefined> },
      ];
      const { gateway } = networks['front']!.ipam!.config[0];
      const { TRUST_PROXY: proxy } = services['service']!.environment!;
      expect(proxy).toBe(`\${TRUST_PROXY:-${gateway}}`);
      expect(loadSettings({ TRUST_PROXY: gateway }).trustProxy).toEqual([gateway]);
    });

    it('require a password for Redis', () => {
      const { command, environment } = services['redis']!;
      expect(String(command)).toContain('requirepass "%s"');
      expect(environment!['REDIS_PASSWORD']).toContain('${REDIS_PASSWORD:?');
      expect(services['service']!.environment!['REDIS_URL']).toMatch(
        /^redis:\/\/:\$\{REDIS_PASSWORD:\?.+\}@redis:6379$/,
      );
    });
  });

  it('build from a base image that a digest pins', () => {
    const lines = readFileSync('docker/Dockerfile', 'utf8').split('\n');
    const [, image] = /^ARG NODE_IMAGE=(.*)$/.exec(lines.find((line) => line.startsWith('ARG'))!)!;
    expect(image).toMatch(PINNED);
    const from = lines.filter((line) => line.startsWith('FROM '));
    expect(from.filter((line) => !line.startsWith('FROM ${NODE_IMAGE}'))).toEqual([]);
  });

  it('limit the memory of the service to 150 MB more than the heap of the image', () => {
    const heap = /--max-old-space-size=(\d+)/.exec(readFileSync('docker/Dockerfile', 'utf8'))![1];
    const limit = /mem_limit: (\d+)m/.exec(readFileSync('docker/compose.yaml', 'utf8'))![1];
    expect(Number(limit) - Number(heap)).toBeGreaterThanOrEqual(150);
  });

  it('copy only existing files into the image', () => {
    const copies = readFileSync('docker/Dockerfile', 'utf8').match(/^COPY (?!--from).*/gm)!;
    const files = copies.flatMap((line) => line.split(' ').slice(1, -1));
    expect(files.filter((file) => globSync(file).length === 0)).toEqual([]);
  });

  it('start Node in the image as `npm start` does', () => {
    const [, command] = /^CMD (\[.*\])$/m.exec(readFileSync('docker/Dockerfile', 'utf8'))!;
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: { start: string };
    };
    const optionsIn = (words: readonly string[]) => words.filter((word) => word.startsWith('--'));
    const inImage = optionsIn(JSON.parse(command!) as string[]);
    expect(inImage).toEqual(optionsIn(scripts.start.split(' ')));
    expect(inImage).toEqual([expect.stringMatching(/^--max-semi-space-size=\d+$/)]);
  });

  describe('in Kubernetes', () => {
    const [deployment] = documentsOf('docker/kubernetes/deployment.yaml') as [
      { spec: { template: { spec: PodSpec } } },
    ];
    const pod = deployment.spec.template.spec;
    const policyIn = (name: string): Policy => {
      const [policy] = documentsOf(`docker/kubernetes/${name}.yaml`) as [{ spec: Policy }];
      return policy.spec;
    };
    const { ingress, egress: general, policyTypes } = policyIn('network-policy');
    const stores = policyIn('network-policy-stores').egress;
    const egress = [...general, ...stores];

    it('confine the container', () => {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.containers).toHaveLength(1);
      expect(pod.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    });

    it('require a digest of the image', () => {
      const [{ images }] = documentsOf('docker/kubernetes/kustomization.yaml') as [
        { images: Record<string, string>[] },
      ];
      expect(images.map(({ name }) => name)).toEqual([pod.containers[0].image]);
      for (const image of images) {
        expect(image['digest']).toMatch(/^sha256:/);
        expect(image).not.toHaveProperty('newTag');
      }
    });

    it('require the keys, the metrics token, the password of Redis and the proxy', () => {
      const { env } = pod.containers[0];
      const demanded = env.flatMap(({ name, valueFrom }) =>
        valueFrom && valueFrom.secretKeyRef.optional !== true ? [name] : [],
      );
      expect(demanded).toEqual(['DATABASE_URL', 'REDIS_URL', 'SECRETS_KEY', 'METRICS_TOKEN']);
      const proxy = env.find(({ name }) => name === 'TRUST_PROXY')!.value!;
      expect(loadSettings({ TRUST_PROXY: proxy }).trustProxy).not.toEqual([]);
      const known = new Set(declaredSettings.map(({ variable }) => variable));
      const unknown = env.filter(({ name }) => !known.has(name) && name !== 'NODE_OPTIONS');
      expect(unknown).toEqual([]);
    });

    it('accept connections only from the ingress controller and Prometheus', () => {
      expect(policyTypes).toEqual(['Ingress', 'Egress']);
      const peers = ingress.flatMap(({ from }) => from);
      expect(peers.map(({ podSelector }) => Object.values(podSelector!.matchLabels)[0])).toEqual([
        'ingress-nginx',
        'prometheus',
      ]);
      expect(peers.every(({ namespaceSelector }) => namespaceSelector !== undefined)).toBe(true);
    });

    /** Returns the ports that the policy permits for the address. */
    const portsTo = (address: string): number[] => {
      const family = address.includes(':') ? 'ipv6' : 'ipv4';
      const within = (cidrs: readonly string[]): boolean => {
        const list = new BlockList();
        for (const cidr of cidrs) {
          const [network = '', bits] = cidr.split('/');
          list.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4');
        }
        return list.check(address, family);
      };
      return egress
        .filter(({ to }) =>
          to.some(
            ({ ipBlock }) => ipBlock && within([ipBlock.cidr]) && !within(ipBlock.except ?? []),
          ),
        )
        .flatMap(({ ports }) => ports.map(({ port }) => port));
    };

    it.each([
      '10.96.0.1',
      '10.0.0.1',
      '100.64.1.1',
      '100.100.100.200',
      '127.0.0.1',
      '168.63.129.16',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.254',
      '192.168.49.2',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd12:3456::1',
      'fe80::1',
      '::1',
    ])('block internal addresses such as %s', (address) => expect(portsTo(address)).toEqual([]));

    it.each(['8.8.8.8', '2606:4700:4700::1111'])('allow vendors such as %s', (address) =>
      expect(portsTo(address)).toEqual([443, 465, 587]),
    );

    it('allow connections to DNS, the database and Redis by label, and block all others', () => {
      const named = egress.flatMap(({ to, ports }) =>
        to.flatMap(({ podSelector }) =>
          podSelector
            ? [
                `${Object.values(podSelector.matchLabels)[0]} ${[...new Set(ports.map(({ port }) => port))].join()}`,
              ]
            : [],
        ),
      );
      expect(named).toEqual(['kube-dns 53', 'postgresql 5432', 'redis 6379']);
      const peers = egress.flatMap(({ to }) => to);
      expect(peers.filter((peer) => !peer.podSelector && !peer.ipBlock)).toEqual([]);
    });
  });
});
