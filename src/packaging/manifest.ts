import type { LockedPackages } from './sbom.ts'

/** The fields of the repository's `package.json` that the published one repeats. */
export interface RepositoryManifest {
  name: string
  version: string
  description: string
  license: string
  type: string
  engines: Record<string, string>
  dependencies: Record<string, string>
}

/** What the bundle leaves out, and what the exported modules import. Everything else is bundled. */
const installed = ['@electric-sql/pglite', '@trpc/client', '@trpc/server', 'standardwebhooks', 'zod'] as const

/**
 * Returns the `package.json` of the published package, whose root is `dist/`. That of the repository lists what the server
 * imports from source, most of which is bundled here.
 */
export function writeManifest({ name, version, description, license, type, engines, ...from }: RepositoryManifest) {
  return {
    name,
    version,
    description,
    license,
    type,
    bin: { waybill: 'src/cli/waybill.js' },
    exports: {
      './client': exported('src/client/client'),
      './webhook': exported('src/receiver/webhook'),
      './contracts': exported('contracts/index'),
      './contracts/*': exported('contracts/*'),
      './openapi.json': './openapi.json',
      './package.json': './package.json',
    },
    // The contracts of the dashboard and of the command line are in the bundle of the server, and nothing else imports them.
    files: [
      '**',
      '!.cache',
      '!contracts/dashboard',
      '!contracts/command-line',
      '!src/**/*.d.ts',
      'src/client/*.d.ts',
      'src/receiver/*.d.ts',
    ],
    dependencies: Object.fromEntries(
      installed.map((dependency) => [dependency, versionOf(from.dependencies, dependency)]),
    ),
    engines,
  }
}

function exported(module: string): { types: string; default: string } {
  return { types: `./${module}.d.ts`, default: `./${module}.js` }
}

function versionOf(dependencies: Record<string, string>, name: string): string {
  const version = dependencies[name]
  if (version === undefined) throw new Error(`package.json does not list ${name} under dependencies`)
  return version
}

/** The packages of the lock file, with the dependencies of the published package in place of the repository's. */
export function asPublished(
  packages: LockedPackages,
  { dependencies: published }: Pick<ReturnType<typeof writeManifest>, 'dependencies'>,
): LockedPackages {
  const { dependencies, devDependencies, ...root } = packages[''] ?? {}
  return {
    ...packages,
    '': { ...root, dependencies: published, devDependencies: { ...dependencies, ...devDependencies } },
  }
}
