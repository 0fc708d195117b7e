import { cp, mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isInContext, readStages, type Instruction, type Stage } from './dockerfile.ts'
import { repository, run } from './run.ts'

export interface Image {
  /** All build output, for removal. */
  folder: string
  /** The content of `/app` in the image. */
  app: string
  environment: Record<string, string>
  /** The argument vectors of ENTRYPOINT, CMD and HEALTHCHECK. */
  vectors: Record<'ENTRYPOINT' | 'CMD' | 'HEALTHCHECK', string[]>
  /** Instructions that were skipped because they affect other parts of a container's file system. */
  skipped: string[]
}

/** Executes the Dockerfile in plain folders: copies files for COPY and runs the npm commands unchanged. */
export async function buildImage(): Promise<Image> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-image-'))
  const dockerignore = await readFile(path.join(repository, '.dockerignore'), 'utf8')
  const stages = readStages(await readFile(path.join(repository, 'Dockerfile'), 'utf8'))
  const skipped: string[] = []
  for (const stage of stages)
    for (const instruction of stage.instructions) {
      if (instruction.keyword === 'COPY') await copy(instruction, stage)
      if (instruction.keyword === 'RUN') await runLine(instruction, stage)
    }
  const last = stages.at(-1)
  if (last === undefined) throw new Error('The Dockerfile has no stage.')
  return {
    folder,
    app: folderOf(last.name),
    environment: Object.fromEntries(find(last, 'ENV').map((rest) => rest.split('=') as [string, string])),
    vectors: {
      ENTRYPOINT: readVector(last, 'ENTRYPOINT'),
      CMD: readVector(last, 'CMD'),
      HEALTHCHECK: readVector(last, 'HEALTHCHECK'),
    },
    skipped,
  }

  function folderOf(stage: string | undefined): string {
    return path.join(folder, stage ?? 'last', 'app')
  }

  async function copy({ rest }: Instruction, stage: Stage): Promise<void> {
    const words = rest.split(' ')
    const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
    const target = words.pop() ?? ''
    for (const source of words) {
      if (from === undefined && !isInContext(dockerignore, source)) throw new Error(`${source} is ignored`)
      const origin = from === undefined ? path.join(repository, source) : source.replace('/app', folderOf(from))
      const destination = target.endsWith('/') ? path.join(target, path.basename(source)) : target
      await cp(origin, path.join(folderOf(stage.name), destination), { recursive: true })
    }
  }

  async function runLine({ rest }: Instruction, stage: Stage): Promise<void> {
    if (!rest.startsWith('npm ') || rest.startsWith('npm cache')) return void skipped.push(rest)
    await mkdir(folderOf(stage.name), { recursive: true })
    await run(folderOf(stage.name), 'sh', ['-c', rest])
  }
}

function find(stage: Stage, keyword: string): string[] {
  return stage.instructions.filter((instruction) => instruction.keyword === keyword).map(({ rest }) => rest)
}

function readVector(stage: Stage, keyword: string): string[] {
  const [rest = '[]'] = find(stage, keyword)
  return JSON.parse(rest.slice(rest.indexOf('[')))
}
