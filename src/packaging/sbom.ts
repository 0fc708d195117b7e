import { createHash } from 'node:crypto'

/** The fields of a package in `package-lock.json` that are used here. */
export interface LockedPackage {
  name?: string
  version?: string
  integrity?: string
  license?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/** Packages by path, such as `node_modules/react`; the project itself has an empty path. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

interface Component {
  path: string
  scope: 'required' | 'optional'
  /** The file that the package was bundled into. */
  bundledIn?: string
}

/**
 * Creates a software bill of materials in CycloneDX 1.6 of the installed packages and of those bundled into the
 * server, the dashboard and the documentation. It is created from the lock file, so that the same commit produces the same bytes,
 * without paths or registries of the build machine. `npm sbom` omits bundled packages and adds a time.
 */
export function createSbom(
  packages: LockedPackages,
  { server, dashboard, docs }: Readonly<Record<'server' | 'dashboard' | 'docs', readonly string[]>>,
): object {
  const installed = listInstalled(packages)
  const components = dedupe(packages, [
    ...installed,
    ...server.map((path) => ({ path, scope: 'required', bundledIn: 'server' }) as const),
    ...dashboard.map((path) => ({ path, scope: 'required', bundledIn: 'dashboard' }) as const),
    ...docs.map((path) => ({ path, scope: 'required', bundledIn: 'documentation' }) as const),
  ])
  const bundled = new Set([...server, ...dashboard, ...docs])
  const root = packages['']
  const known = new Map(components.map(({ path }) => [path, purlOf(packages, path)]))
  const refs = new Set(known.values())
  const content = {
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: { 'bom-ref': purl(root), type: 'application', ...describe(root) },
    },
    components: components.map((component) => toComponent(packages, component)),
    dependencies: ['', ...known.keys()].map((path) => ({
      ref: path === '' ? purl(root) : known.get(path),
      dependsOn: listDirect(packages, path, bundled)
        .map((dependency) => purlOf(packages, dependency))
        .filter((ref, index, all) => refs.has(ref) && all.indexOf(ref) === index)
        .toSorted(),
    })),
    // These files bundle further packages, which the lock file does not contain.
    compositions: [{ aggregate: 'incomplete', assemblies: docs.map((path) => purlOf(packages, path)) }],
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  }
}

/** Lists what an install of the package adds: transitive dependencies and required peers. */
function listInstalled(packages: LockedPackages): Component[] {
  const scopes = new Map<string, Component['scope']>()
  const visit = (from: string, scope: Component['scope']): void => {
    for (const [path, isOptional] of listDependencies(packages, from)) {
      const found = scope === 'optional' || isOptional ? 'optional' : 'required'
      const known = scopes.get(path)
      if (known === 'required' || known === found) continue
      scopes.set(path, found)
      visit(path, found)
    }
  }
  visit('', 'required')
  return [...scopes].map(([path, scope]) => ({ path, scope }))
}

/** Returns the path of each dependency of a package, and whether it may be absent. */
function listDependencies(packages: LockedPackages, from: string): [string, boolean][] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[from] ?? {}
  const { peerDependenciesMeta = {} } = packages[from] ?? {}
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  const names = new Map([
    ...[...Object.keys(dependencies), ...peers].map((name) => [name, false] as const),
    ...Object.keys(optionalDependencies).map((name) => [name, true] as const),
  ])
  return [...names].flatMap(([name, isOptional]) => {
    const path = resolve(packages, from, name)
    return path === undefined ? [] : [[path, isOptional]]
  })
}

/**
 * Returns the edges of the dependency graph, including installed peers and packages bundled into the project itself.
 */
function listDirect(packages: LockedPackages, from: string, bundled: ReadonlySet<string>): string[] {
  const find = (name: string) => resolve(packages, from, name)
  const peers = Object.keys(packages[from]?.peerDependencies ?? {})
  const found = [
    ...listDependencies(packages, from).map(([path]) => path),
    ...peers.flatMap((name) => find(name) ?? []),
  ]
  if (from !== '') return found
  const developed = Object.keys(packages['']?.devDependencies ?? {}).flatMap((name) => find(name) ?? [])
  return [...found, ...developed.filter((path) => bundled.has(path))]
}

/** Resolves a package like Node: beside the importing package, then further up. */
function resolve(packages: LockedPackages, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages[path]) return path
    if (folder === '') return undefined
  }
}

/** Merges components with the same name and version. The result is required if one of them is. */
function dedupe(packages: LockedPackages, components: Component[]): Component[] {
  const unique = new Map<string, Component>()
  for (const component of components) {
    const ref = purlOf(packages, component.path)
    const known = unique.get(ref)
    const isOptional = component.scope === 'optional' && known?.scope !== 'required'
    unique.set(ref, { ...component, ...known, scope: isOptional ? 'optional' : 'required' })
  }
  return [...unique].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, component]) => component)
}

function toComponent(packages: LockedPackages, { path, scope, bundledIn }: Component): object {
  const locked = packages[path]
  return {
    'bom-ref': purlOf(packages, path),
    type: 'library',
    ...describe({ ...locked, name: nameOf(path) }),
    scope,
    ...(locked?.integrity !== undefined && { hashes: locked.integrity.split(' ').flatMap(toHash) }),
    ...(bundledIn !== undefined && { properties: [{ name: 'waybill:bundledIn', value: bundledIn }] }),
  }
}

function describe(locked: LockedPackage | undefined): object {
  const [name = '', group] = (locked?.name ?? '').split('/').toReversed()
  return {
    ...(group !== undefined && { group }),
    name,
    version: locked?.version,
    purl: purl(locked),
    ...(locked?.license !== undefined && { licenses: [toLicense(locked.license)] }),
  }
}

function toLicense(license: string): object {
  return /[ (]/.test(license) ? { expression: license } : { license: { id: license } }
}

const algorithms = new Map([
  ['sha512', 'SHA-512'],
  ['sha384', 'SHA-384'],
  ['sha256', 'SHA-256'],
  ['sha1', 'SHA-1'],
])

/** The hash of the archive from the registry. */
function toHash(integrity: string): object[] {
  const [name = '', digest = ''] = integrity.split(/-(.*)/s)
  const alg = algorithms.get(name)
  return alg === undefined ? [] : [{ alg, content: Buffer.from(digest, 'base64').toString('hex') }]
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function purlOf(packages: LockedPackages, path: string): string {
  return purl({ ...packages[path], name: nameOf(path) })
}

function purl(locked: LockedPackage | undefined): string {
  return `pkg:npm/${(locked?.name ?? '').replace('@', '%40')}@${locked?.version}`
}

/** A UUID version 8 (RFC 9562, 5.8) of the content, so that different content is a different document. */
function uuidOf(content: string): string {
  const bytes = createHash('sha256').update(content).digest().subarray(0, 16)
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
