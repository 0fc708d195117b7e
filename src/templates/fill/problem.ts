/** A problem with a field. It never contains values, because they may be personal data. */
export interface Problem {
  path: readonly (string | number)[]
  /** The part of the template that the field fills, in the template's words. */
  part?: string
  /** The variable that has the problem, if it is one. */
  key?: string
  /** Without its subject, such as `must not be empty`. */
  problem: string
}

/** Such as `"1" must not be empty`. */
export function formatProblem({ key, problem }: Pick<Problem, 'key' | 'problem'>): string {
  return key === undefined ? problem : `"${key}" ${problem}`
}

export type ReportProblem = (problem: Problem) => void
