import path from 'node:path'
import { fillOnce, pythonCommand, run } from '../clients/tools.ts'
import modules from './tools.json' with { type: 'json' }

/** Builds a program with Go, once for each list of versions: the first time takes minutes. */
export async function goCommand(name: keyof typeof modules): Promise<string> {
  const file = path.join(import.meta.dirname, 'tools.json')
  const folder = await fillOnce(`go-${name}`, file, async (bin) => {
    const environment = { GOBIN: bin, CGO_ENABLED: '0' }
    // Without optimizations, it takes a third less CPU time.
    const flags = ['-trimpath', '-ldflags', '-s -w', '-gcflags', 'all=-N -l']
    await run(bin, 'go', ['install', ...flags, modules[name]], environment)
  })
  return path.join(folder, name)
}

/** A command that checks manifests against its bundled schemas. */
export function kubernetesValidate(): Promise<string> {
  return pythonCommand('kubernetes-validate', '../deploy/requirements.txt')
}
