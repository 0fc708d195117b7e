import { expect, test } from 'vitest'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import packageLock from '../../package-lock.json' with { type: 'json' }
import { asPublished, writeManifest } from '../../src/packaging/manifest.ts'
import { createSbom, type LockedPackages } from '../../src/packaging/sbom.ts'

/** The part of the CycloneDX 1.6 schema that our document uses. */
const License = z.union([
  z.strictObject({ license: z.strictObject({ id: z.string().regex(/^[\w.+-]+$/) }) }),
  z.strictObject({ expression: z.string().regex(/ (OR|AND) /) }),
])
const component = {
  'bom-ref': z.string(),
  group: z.string().optional(),
  name: z.string().min(1),
  version: z.string(),
  purl: z.string().regex(/^pkg:npm\/(%40[^/@]+\/)?[^/@]+@\d+\.\d+\.\d+/),
  licenses: z.array(License).min(1),
}
const Sbom = z.strictObject({
  $schema: z.literal('http://cyclonedx.org/schema/bom-1.6.schema.json'),
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  version: z.literal(1),
  metadata: z.strictObject({
    lifecycles: z.tuple([z.strictObject({ phase: z.literal('build') })]),
    component: z.strictObject({ ...component, type: z.literal('application') }),
  }),
  components: z.array(
    z.strictObject({
      ...component,
      type: z.literal('library'),
      scope: z.enum(['required', 'optional']),
      hashes: z.array(z.strictObject({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) })),
      properties: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
    }),
  ),
  dependencies: z.array(z.strictObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
  compositions: z.array(z.strictObject({ aggregate: z.literal('incomplete'), assemblies: z.array(z.string()) })),
})

// TypeScript infers a separate type for each of its hundreds of packages.
const manifest = writeManifest(packageJson)
const packages = asPublished(packageLock.packages as LockedPackages, manifest)
const bundled = {
  server: ['node_modules/fastify'],
  dashboard: ['node_modules/react', 'node_modules/zod'],
  docs: ['node_modules/@scalar/api-reference'],
}
const text = JSON.stringify(createSbom(packages, bundled))
const sbom = Sbom.parse(JSON.parse(text))
const refs = sbom.components.map((each) => each['bom-ref'])

function nameOf({ group, name, version }: { group?: string | undefined; name: string; version: string }): string {
  return `${group === undefined ? '' : `${group}/`}${name}@${version}`
}

test('requires every dependency of the published package and adds only bundled packages', () => {
  const required = sbom.components.filter(({ scope }) => scope === 'required')
  const installed = required.filter((each) => !each.properties || nameOf(each).startsWith('zod@'))

  expect(installed.map(nameOf)).toEqual(
    expect.arrayContaining(Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`)),
  )
  expect(installed.map(({ name }) => name).filter((name) => /^(fastify|kysely|vite|vitest|react)$/.test(name))).toEqual(
    [],
  )
  expect(
    required.filter((each) => each.properties).map(({ name, properties }) => [name, properties?.[0]?.value]),
  ).toEqual([
    ['api-reference', 'documentation'],
    ['fastify', 'server'],
    ['react', 'dashboard'],
    ['zod', 'dashboard'],
  ])
})

test('has unique references that point to components', () => {
  const root = sbom.metadata.component['bom-ref']

  expect(new Set(refs).size).toBe(refs.length)
  expect(sbom.dependencies.map(({ ref }) => ref).toSorted()).toEqual([...refs, root].toSorted())
  for (const { dependsOn } of sbom.dependencies) {
    expect(new Set(dependsOn).size).toBe(dependsOn.length)
    expect(refs).toEqual(expect.arrayContaining(dependsOn))
  }
  const direct = sbom.dependencies.find(({ ref }) => ref === root)?.dependsOn
  expect(direct?.filter((ref) => !/scalar|react|fastify/.test(ref))).toHaveLength(
    Object.keys(manifest.dependencies).length,
  )
  // Every component can be reached from the package itself.
  const reached = new Set([root])
  for (const ref of reached)
    for (const next of sbom.dependencies.find((each) => each.ref === ref)?.dependsOn ?? []) reached.add(next)
  expect(refs.filter((ref) => !reached.has(ref))).toEqual([])
})

test('generates identical bytes from the same lock file, without machine or registry names', () => {
  expect(JSON.stringify(createSbom(structuredClone(packages), bundled)) === text).toBe(true)
  expect(text.match(/\/(home|root|tmp|Users)\/|node_modules|registry|localhost|"timestamp"/)).toBeNull()
  expect([...text.matchAll(/https?:\/\/[^"]+/g)].map(([url]) => url)).toEqual([
    'http://cyclonedx.org/schema/bom-1.6.schema.json',
  ])
  expect(Sbom.parse(createSbom(packages, { ...bundled, dashboard: [] })).serialNumber).not.toBe(sbom.serialNumber)
})
