// Runs examples/fleet in a network of its own, and reads its manifests.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { canLeaveNetwork, withoutNetwork } from '../fleet/namespace.ts'
import { Child, withoutKeys } from './child.ts'

const MINUTES = 60_000

test.skipIf(!canLeaveNetwork())(
  'examples/fleet kills a worker, and pays each refund once (skipped where no network namespace can be made)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolwright-fleet-test-'))
    chmodSync(folder, 0o755) // Postgres may run as another user
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { DATABASE_URL: _, ...others } = withoutKeys()
    const [command, args] = withoutNetwork([
      process.execPath,
      '--conditions=toolwright:source',
      'examples/fleet/local.ts',
    ])
    const { code, out, errors } = await new Child([command, ...args], { ...others, TMPDIR: folder }).ended
    expect(out.trim().split('\n')).toEqual([
      '3 workers continue sessions that are stored in Postgres. Restate calls them.',
      '30 messages are stored.',
      '30 refunds wait for an approval, and no worker waits with them.',
      ...[
        'All are approved.',
        expect.stringMatching(/^The bank has paid\. Before it answers, kill -9 ends worker \d\./),
      ].toSorted(() => (out.indexOf('kill -9') < out.indexOf('All are') ? -1 : 1)),
      expect.stringMatching(/^The bank was asked 3\d times, and paid 30 refunds\.$/),
    ])
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(readdirSync(folder)).toEqual([])
  },
  3 * MINUTES,
)

interface Container {
  readonly args: readonly string[]
  readonly securityContext: Record<string, unknown>
  readonly readinessProbe: object
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector?: { readonly matchLabels?: object }
    readonly template?: {
      readonly metadata: { readonly labels: object }
      readonly spec: { readonly containers: readonly Container[] }
    }
    readonly ports?: readonly object[]
  }
}

test('the Kubernetes manifests are sound, and their containers are locked down', () => {
  const text = readFileSync('examples/fleet/kubernetes.yaml', 'utf8')
  const manifests = parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as Manifest
  })
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Deployment desk-workers-v1',
    'Service desk-workers-v1',
    'Deployment desk-server',
    'Service desk-server',
    'NetworkPolicy desk-workers',
  ])
  for (const { spec } of manifests) {
    if (!spec.template) continue
    expect(spec.template.metadata.labels).toEqual(spec.selector?.matchLabels)
    for (const { securityContext, readinessProbe, args } of spec.template.spec.containers) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, readOnlyRootFilesystem: true })
      expect(readinessProbe).toBeDefined()
      expect(args.join(' ')).not.toMatch(/secret|token/i) // secrets are not for the list of processes
    }
  }
})

test('the compose file is sound, and has no secret in it', () => {
  const text = readFileSync('examples/fleet/compose.yaml', 'utf8')
  const { services } = parse(text, { merge: true }) as {
    services: Record<string, { environment?: Record<string, string>; command?: string[] }>
  }
  expect(Object.keys(services)).toEqual(['server', 'workers', 'restate', 'postgres'])
  expect(services.workers?.environment?.TOOLWRIGHT_FLEET_SECRET).toMatch(/^\$\{TOOLWRIGHT_FLEET_SECRET:\?/)
  expect(services.server?.environment?.TOOLWRIGHT_TOKEN).toMatch(/^\$\{TOOLWRIGHT_TOKEN:\?/)
  expect(services.server?.command?.[0]).toBe('serve')
  expect(services.workers?.command?.slice(0, 2)).toEqual(['worker', 'desk.ts'])
})
