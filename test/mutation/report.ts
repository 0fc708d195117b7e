import { type Equivalent, equivalents } from './equivalent.ts'

/** The part of Stryker's JSON report (mutation-testing-report-schema) that this file reads. */
export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

interface Mutant {
  status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored' | 'Pending'
  replacement?: string
  location: { start: Position; end: Position }
}

interface Position {
  line: number
  column: number
}

export interface Score {
  file: string
  /** Excludes mutants that do not load. */
  mutants: number
  killed: number
  equivalent: number
  /** Excludes equivalent mutants. */
  percent: number
  minPercent: number
  seconds: number
}

interface Survivor extends Change {
  /** Line and column. */
  at: string
  covered: boolean
  equivalent: Equivalent | undefined
}

export function readScore(
  { file, minPercent }: Pick<Score, 'file' | 'minPercent'>,
  report: Report,
  seconds: number,
): Score {
  const killed = mutantsOf(file, report).filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const survivors = survivorsOf(file, report)
  const equivalent = survivors.filter((survivor) => survivor.equivalent !== undefined).length
  const mutants = killed + survivors.length
  const percent = mutants === equivalent ? 100 : (100 * killed) / (mutants - equivalent)
  return { file, minPercent, seconds, mutants, killed, equivalent, percent }
}

function mutantsOf(file: string, { files }: Report): Mutant[] {
  return files[file]?.mutants ?? []
}

function survivorsOf(file: string, report: Report): Survivor[] {
  const lines = report.files[file]?.source.split('\n') ?? []
  return mutantsOf(file, report)
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ status, location: { start, end }, replacement = '' }) => {
      const line = lines[start.line - 1] ?? ''
      const original = line.slice(start.column - 1, start.line === end.line ? end.column - 1 : undefined)
      const mutant = { line: line.trim(), original, replacement: replacement.replaceAll(/\s+/g, ' ') }
      return {
        ...mutant,
        at: `${start.line}:${start.column}`,
        covered: status === 'Survived',
        equivalent: equivalents.find((known) => known.file === file && isSame(known, mutant)),
      }
    })
}

type Change = Pick<Equivalent, 'line' | 'original' | 'replacement'>

function isSame(known: Change, mutant: Change): boolean {
  return (
    known.line === mutant.line && mutant.original.startsWith(known.original) && known.replacement === mutant.replacement
  )
}

/**
 * One line for each surviving mutant that is not equivalent, with its position and change, and one for each entry of
 * `equivalent.ts` that is out of date.
 */
export function formatSurvivors(file: string, report: Report): string {
  const survivors = survivorsOf(file, report)
  const found = new Set(survivors.map(({ equivalent }) => equivalent))
  return [
    ...survivors
      .filter(({ equivalent }) => equivalent === undefined)
      .map(
        ({ at, covered, original, replacement }) =>
          `${file}:${at} ${covered ? 'survived' : 'has no test'}: ${original} → ${replacement}\n`,
      ),
    ...equivalents
      .filter((known) => known.file === file && !found.has(known))
      .map(({ original, replacement }) => `${file} no longer has the equivalent mutant ${original} → ${replacement}\n`),
  ].join('')
}

/** The table of the guide. */
export function formatTable(scores: readonly Score[]): string {
  const rows = scores.map(
    ({ file, mutants, killed, equivalent, percent, seconds }) =>
      `| \`${file}\` | ${mutants} | ${killed} | ${mutants - killed - equivalent} | ${equivalent} | ${percent.toFixed(1)} | ${seconds.toFixed(0)} |`,
  )
  return [
    '| File | Mutants | Killed | Survived | Equivalent | Score (%) | Seconds |',
    '| --- | --: | --: | --: | --: | --: | --: |',
    ...rows,
  ].join('\n')
}
