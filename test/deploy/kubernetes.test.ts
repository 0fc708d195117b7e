import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { secretVariables } from '../../src/platform/environment.ts'
import { listMissing, run } from '../clients/tools.ts'
import { reportMissing } from '../support/process.ts'
import { goCommand, kubernetesValidate } from './tools.ts'

const deploy = path.resolve(import.meta.dirname, '../../deploy')
const chart = path.join(deploy, 'helm/waybill')
/** A Helm built with plain Go assumes a very old Kubernetes version. */
const kubeVersion = ['--kube-version', '1.37.0']
const withAutoscaling = ['--set', 'api.autoscaling.enabled=true,worker.autoscaling.enabled=true']

const everything = [
  'ingress.enabled=true,ingress.className=nginx,ingress.tlsSecret=tls',
  'config.TRUST_PROXY=uniquelocal,config.WAYBILL_RETENTION_DAYS=60',
  'imagePullSecrets[0].name=registry,nodeSelector.disk=ssd,podAnnotations.a=b,podLabels.c=d',
  'extraVolumes[0].name=ca,extraVolumes[0].secret.secretName=ca',
  'extraVolumeMounts[0].name=ca,extraVolumeMounts[0].mountPath=/etc/waybill',
  'serviceAccount.annotations.role=x,service.annotations.a=b,ingress.annotations.a=b',
  'tolerations[0].operator=Exists,affinity.podAntiAffinity=null',
]

const missing = listMissing(['go', 'python3'])
if (missing.length > 0) reportMissing('the deployment test', missing.join(' and '))

const Manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  spec: z
    .looseObject({
      replicas: z.number().optional(),
      selector: z.unknown().optional(),
      metrics: z.array(z.unknown()).optional(),
      template: z
        .looseObject({
          metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
          spec: z.looseObject({
            securityContext: z.unknown(),
            containers: z.array(
              z.looseObject({ image: z.string(), args: z.array(z.string()), securityContext: z.unknown() }),
            ),
          }),
        })
        .optional(),
    })
    .optional(),
})

function parse(text: string): z.infer<typeof Manifest>[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((value) => value !== null)
    .map((value) => Manifest.parse(value))
}

function withoutVersion(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !name.endsWith('/version')))
}

describe.skipIf(missing.length > 0)('the manifests for Kubernetes', () => {
  let folder: string
  let helm: string
  let kustomize: string
  let validator: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waybill-deploy-'))
    helm = await goCommand('helm')
    kustomize = await goCommand('kustomize')
    validator = await kubernetesValidate()
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  function render(...args: string[]): Promise<string> {
    return run(deploy, helm, ['template', 'waybill', chart, ...kubeVersion, ...args])
  }

  async function validate(text: string): Promise<string> {
    const file = path.join(folder, 'manifests.yaml')
    await writeFile(file, text)
    return run(folder, validator, ['--strict', '--kubernetes-version', '1.37.0', file])
  }

  test('pass the linter of Helm', async () => {
    expect(await run(deploy, helm, ['lint', '--strict', ...kubeVersion, chart])).toContain('0 chart(s) failed')
  })

  test.each([
    { values: 'the defaults', args: [] },
    { values: 'everything', args: [...withAutoscaling, ...everything.flatMap((value) => ['--set', value])] },
  ])('fit the schemas of Kubernetes with $values', async ({ args }) => {
    const text = await render(...args)
    const output = await validate(text)
    for (const { kind, metadata } of parse(text))
      expect(output).toContain(`passed for resource ${kind.toLowerCase()}/${metadata.name}`)
  })

  test('are rejected by the validator if a field is misspelled', async () => {
    const text = await render()
    await expect(validate(text.replace('readinessProbe', 'readynessProbe'))).rejects.toThrow('readynessProbe')
  })

  test('run each role with its probes and a disruption budget, after a migration', async () => {
    const manifests = parse(await render())
    const pods = manifests.flatMap(({ kind, spec }) => (spec?.template ? [{ kind, template: spec.template }] : []))

    expect(pods.map(({ kind, template }) => [kind, template.spec.containers[0]?.args])).toEqual([
      ['Deployment', ['serve', '--role', 'api']],
      ['Deployment', ['serve', '--role', 'worker']],
      ['Job', ['migrate']],
    ])
    for (const { template } of pods) {
      expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
      expect(template.spec.containers[0]?.securityContext).toMatchObject({ readOnlyRootFilesystem: true })
    }
    const selectors = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget').map(({ spec }) => spec?.selector)
    expect(selectors).toEqual(
      pods.slice(0, 2).map(({ template }) => ({ matchLabels: withoutVersion(template.metadata.labels) })),
    )
  })

  test('scale on concurrent requests and on the oldest due delivery', async () => {
    const manifests = parse(await render(...withAutoscaling))

    expect(
      manifests.filter(({ kind }) => kind === 'HorizontalPodAutoscaler').flatMap(({ spec }) => spec?.metrics),
    ).toEqual([
      { type: 'Pods', pods: { metric: { name: 'waybill_http_requests_at_work' }, target: expect.anything() } },
      {
        type: 'External',
        external: { metric: { name: 'waybill_webhook_oldest_due_seconds' }, target: expect.anything() },
      },
    ])
    expect(manifests.filter(({ spec }) => spec?.replicas !== undefined)).toEqual([])
    const guide = await readFile(path.resolve(deploy, '../docs/operating/operating.md'), 'utf8')
    const adapter = await readFile(path.join(deploy, 'prometheus-adapter.yaml'), 'utf8')
    for (const metric of ['waybill_http_requests_at_work', 'waybill_webhook_oldest_due_seconds']) {
      expect(guide).toContain(`\`${metric}\``)
      expect(adapter).toContain(metric)
    }
  })

  test.each([...secretVariables])('refuse %s as a setting that is not secret', async (name) => {
    await expect(render('--set', `config.${name}=x`)).rejects.toThrow(/don't meet the specifications of the schema/)
  })

  test('use the version of the package', async () => {
    const images = parse(await render()).flatMap(
      ({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? [],
    )
    expect(new Set(images)).toEqual(new Set([`waybill:${packageJson.version}`]))
  })

  test.each([
    { file: 'kustomize/base/waybill.yaml', args: [] },
    {
      file: 'kustomize/autoscaling/autoscaling.yaml',
      args: ['--show-only', 'templates/autoscaling.yaml', ...withAutoscaling],
    },
  ])('are the same in $file', async ({ file, args }) => {
    const text = await render(...args)
    if (process.env['WRITE_BASE'] === 'true') await writeFile(path.join(deploy, file), text)
    expect(await readFile(path.join(deploy, file), 'utf8')).toBe(text)
  })

  test('are built and changed by Kustomize', async () => {
    const text = await run(deploy, kustomize, ['build', 'kustomize/example'])
    await validate(text)

    const manifests = parse(text)
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['waybill']))
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
    expect(deployments).toHaveLength(2)
    for (const { spec } of deployments) expect(spec?.replicas).toBeUndefined()
    const jobs = manifests.filter(({ kind }) => kind === 'Job')
    expect(jobs).toHaveLength(1)
    for (const { spec } of [...deployments, ...jobs]) {
      expect(spec?.template?.spec.containers[0]?.image).toBe(`registry.example.com/waybill:${packageJson.version}`)
      expect(JSON.stringify(spec)).toContain('https://waybill.example.com')
    }
  })
})
