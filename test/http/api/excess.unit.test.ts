import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import { dashboardContracts } from '../../../contracts/dashboard/index.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { contracts } from '../../../contracts/index.ts'
import { listProcedures, type Procedure } from '../../../contracts/procedure.ts'
import { dropExcess, maximumOf, parseInput } from '../../../src/http/api/input.ts'
import { listWorstInputs } from '../../support/worst-requests.ts'

const bytes = 63 * 1024

const procedures = [...listProcedures(contracts), ...listProcedures<Procedure>(dashboardContracts)]

/** As many problems as zod would report, which takes a few microseconds each. */
function countProblems(schema: z.ZodObject, input: string): number {
  try {
    return schema.safeParse(dropExcess(schema, JSON.parse(input))).error?.issues.length ?? 0
  } catch {
    // Rejected before zod.
    return 0
  }
}

test.each(procedures)('reports few problems of the worst inputs of $name', ({ contract }) => {
  for (const input of listWorstInputs(contract, bytes))
    // One for each of the thousand recipients that an import may have, and one too many.
    expect(countProblems(contract.input, input)).toBeLessThanOrEqual(1_002)
})

test.each(procedures)('rejects the worst inputs of $name, unless its schema takes them', ({ contract }) => {
  const inputs = listWorstInputs(contract, bytes).map((text): unknown => JSON.parse(text))
  const isValid = (input: unknown) => contract.input.safeParse(input).success
  expect(inputs.map((input) => parse(contract.input, input))).toEqual(
    inputs.map((input) => (isValid(input) ? 'accepted' : 'rejected')),
  )
})

function parse(schema: z.ZodObject, input: unknown): unknown {
  try {
    parseInput(schema, input)
    return 'accepted'
  } catch (error) {
    return error instanceof ServiceError ? 'rejected' : error
  }
}

test.each(procedures)('bounds every list in the input of $name', ({ contract }) => {
  expect(findLists(contract.input).filter(([, list]) => maximumOf(list) === Infinity)).toEqual([])
})

function findLists(schema: unknown, name = ''): [string, z.ZodArray][] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return findLists(schema.def.innerType, name)
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([field, inner]) => findLists(inner, `${name}.${field}`))
  return schema instanceof z.ZodArray ? [[name, schema], ...findLists(schema.element, `${name}[]`)] : []
}

describe('an input with too much in it', () => {
  const { input: schema } = createTemplate
  const good = createTemplate.example.input as object

  test('is rejected by the name of the record that has too many entries', () => {
    const examples = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`v${index}`, 'a']))
    expect(() => parseInput(schema, { ...good, body: { text: 'Hello', examples } })).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        message: 'body.examples: must have at most 512 entries.',
        fields: { 'body.examples': { code: 'problem.atMostEntries', params: { max: 512 } } },
      }),
    )
  })

  test('is rejected by the list that has too many items', () => {
    const buttons = Array.from({ length: 5_000 }, () => ({ quickReply: { text: 'Yes' } }))
    expect(() => parseInput(schema, { ...good, buttons })).toThrow(
      expect.objectContaining({ message: 'buttons: must have at most 50 entries.' }),
    )
  })

  test('is rejected by its first unknown fields, at any depth', () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`v${index}`, 1]))
    expect(() => parseInput(schema, { ...good, body: { text: 'Hello.', ...unknown } })).toThrow(
      expect.objectContaining({
        message: '"v0", "v1", "v2", "v3", "v4": no such field in body; known are text, examples.',
      }),
    )
  })
})

test('passes on everything that an input may have', () => {
  const recipients = Array.from({ length: 1_000 }, (_, index) => String(34_600_000_000 + index))
  expect(parseInput(contracts.suppression.import.input, { recipients })).toMatchObject({ recipients })
})
