/** A problem with a field. It never contains values, because they may be personal data. */
export interface Problem {
  path: readonly (string | number)[]
  /** The part of the template that the field fills, in the template's words. */
  part?: string
  /** Without its subject, such as `must not be empty`. */
  problem: string
}

export type ReportProblem = (problem: Problem) => void
