import type { Failure } from '../../api/failure.ts'

/**
 * Beside which field of the test each problem belongs, and what belongs to none. The API tells of all
 * variables in one text, such as `"1" must not be empty. variables: "2" must not hold a tab.`
 */
export function placeProblems(
  { message, fields }: Failure,
  keys: string[],
): { fields: Record<string, string>; rest: string | undefined } {
  const placed: Record<string, string> = {}
  let isComplete = Object.keys(fields).length > 0
  for (const [name, problem] of Object.entries(fields)) {
    if (name === 'variables') {
      for (const part of problem.split(/\s*\bvariables: /)) {
        const [, key, rest] = /^"([^"]+)" (.+)$/s.exec(part) ?? []
        if (key !== undefined && rest !== undefined && keys.includes(key)) placed[`variables.${key}`] = toSentence(rest)
        else isComplete = false
      }
    } else if (name === 'to' || keys.some((key) => name === `variables.${key}`)) placed[name] = problem
    else isComplete = false
  }
  return { fields: placed, rest: isComplete ? undefined : message }
}

function toSentence(problem: string): string {
  const start = problem.charAt(0).toUpperCase() + problem.slice(1)
  return start.endsWith('.') ? start : `${start}.`
}
