import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Group, groups } from './files.ts'
import { formatSurvivors, formatTable, readScore, type Report, type Score } from './report.ts'

/**
 * Run by npx: as dev dependencies, they would add 182 packages and 71 MB to every installation, for a command that few run.
 */
const packages = ['@stryker-mutator/core@10.1.1', '@stryker-mutator/vitest-runner@10.1.1']

const usage = `Usage: npm run test:mutation -- [--report <folder>] [pure | stores | postgres-stores | <source files>]

Changes each source file of test/mutation/files.ts in many small ways, one at a time, and shows which changes no test
notices. The exit code is 1 if a file's tests notice too few of them. The default is pure.`

interface Target {
  file: string
  minPercent: number
}

function targetsOf(names: readonly string[]): Target[] {
  return names.flatMap((name) => {
    const found = Object.entries(groups).flatMap(([group, { files, minPercent }]) =>
      Object.keys(files)
        .filter((file) => group === name || file === name)
        .map((file) => ({ file, minPercent })),
    )
    if (found.length === 0)
      throw new Error(`${name} is neither a group nor a file of test/mutation/files.ts.\n\n${usage}`)
    return found
  })
}

/**
 * One run for each file, so that only its own tests count and its time is known. The tests are chosen by the
 * configuration of vitest, because with Stryker's `testFiles` mutants of constants always survive (stryker-js issue 6144).
 */
async function mutate({ file }: Target, folder: string): Promise<Report> {
  const report = path.join(folder, `${file.replaceAll('/', '-')}.json`)
  const config = path.join(folder, 'stryker.config.json')
  await writeFile(
    config,
    JSON.stringify({
      mutate: [file],
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
      concurrency: 1,
      // Added to the time of the tests; see test/mutation/vitest.config.ts.
      timeoutMS: 30_000,
      // Stryker would rewrite the tsconfig for its copy of the tree, but the paths in this one need no change.
      tsconfigFile: '',
      tempDirName: '.stryker-tmp',
      cleanTempDir: 'always',
      ignorePatterns: ['dist', '.waybill', 'src/dashboard/built*', 'coverage'],
      reporters: ['json'],
      jsonReporter: { fileName: report },
      logLevel: 'warn',
    }),
  )
  const args = ['--yes', '--ignore-scripts', ...packages.flatMap((name) => ['-p', name]), 'stryker', 'run', config]
  const child = spawn('npx', args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, MUTATED_FILE: file },
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`Stryker failed for ${file} with exit code ${code}.`)
  return JSON.parse(await readFile(report, 'utf8')) as Report
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { report: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    console.log(usage)
    return true
  }
  const targets = targetsOf(positionals.length > 0 ? positionals : ['pure' satisfies Group])
  const folder = path.resolve(values.report ?? (await mkdtemp(path.join(tmpdir(), 'waybill-mutation-'))))
  await mkdir(folder, { recursive: true })
  const scores: Score[] = []
  try {
    for (const target of targets) {
      const startedAt = performance.now()
      const report = await mutate(target, folder)
      const score = readScore(target, report, (performance.now() - startedAt) / 1_000)
      process.stdout.write(formatSurvivors(target.file, report))
      scores.push(score)
    }
  } finally {
    if (values.report === undefined) await rm(folder, { recursive: true, force: true })
  }
  console.log(formatTable(scores))
  return scores.every(({ percent, minPercent }) => percent >= minPercent)
}

process.exitCode = (await main()) ? 0 : 1
