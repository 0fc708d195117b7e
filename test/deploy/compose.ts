import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

const repository = path.resolve(import.meta.dirname, '../..')

const Compose = z.object({
  services: z.object({
    waybill: z.object({ environment: z.record(z.string(), z.coerce.string()), ports: z.array(z.string()) }),
    postgres: z.object({ environment: z.record(z.string(), z.string()), image: z.string() }),
  }),
})

/** The content of compose.yaml after Docker Compose has replaced the variables from `.env`. */
export async function readCompose(dotEnv: Record<string, string>): Promise<z.output<typeof Compose>['services']> {
  const text = await readFile(path.join(repository, 'compose.yaml'), 'utf8')
  const filled = text
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, otherwise: string) => {
      const value = dotEnv[name] ?? (kind === '-' ? otherwise : undefined)
      if (value === undefined) throw new Error(`${name}: ${otherwise}`)
      return value
    })
  return Compose.parse(parse(filled)).services
}

/** The command at the top of compose.yaml that generates the secrets. */
export async function readSecretsLine(): Promise<string> {
  const text = await readFile(path.join(repository, 'compose.yaml'), 'utf8')
  const [, line] = /^#\s+(\(umask .+\))$/m.exec(text) ?? []
  if (line === undefined) throw new Error('compose.yaml does not say how to make the secrets.')
  return line
}
