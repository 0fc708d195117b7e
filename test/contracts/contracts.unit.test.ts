import { expect, test } from 'vitest'
import { ErrorResponse, successEnvelope } from '../../contracts/envelope.ts'
import { apiErrorCodes, describeError } from '../../contracts/errors.ts'
import { restContracts } from '../../contracts/index.ts'
import { listProcedures } from '../../contracts/procedure.ts'

const all = listProcedures(restContracts)

test.each(all)('the example of $name matches its own schemas', ({ contract: { input, output, example } }) => {
  expect(input.safeParse(example.input)).toMatchObject({ success: true })
  // Strict equality: the schema must know every field of the example.
  expect(successEnvelope(output).parse({ success: true, data: example.output })).toEqual({
    success: true,
    data: example.output,
  })
})

test.each(all)('the path parameters of $name are required input fields', ({ contract: { path, input } }) => {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')

  for (const parameter of parameters) {
    expect(Object.keys(input.shape)).toContain(parameter)
    expect(input.safeParse({}).error?.issues.map((issue) => issue.path[0])).toContain(parameter)
  }
})

test.each(all)('$name lists each of its error codes once', ({ contract: { errors } }) => {
  expect(errors).toEqual([...new Set(errors)])
})

test.each(all)('the error examples of $name use only codes that it lists', ({ contract: { errors, example } }) => {
  expect(errors).toEqual(expect.arrayContaining(Object.keys(example.errors ?? {})))
})

test('no two contracts share a method and path', () => {
  const routes = all.map(({ contract: { method, path } }) => `${method} ${path}`)

  expect(routes).toEqual([...new Set(routes)])
})

test('lists every error code in a contract, except those of unmatched routes', () => {
  const met = new Set(all.flatMap(({ contract }) => contract.errors))

  expect(apiErrorCodes.filter((code) => !met.has(code))).toEqual(['NOT_FOUND', 'METHOD_NOT_ALLOWED'])
})

test.each(apiErrorCodes)('the example of %s matches the envelope', (code) => {
  const { example, exampleDetails } = describeError(code)
  const failure = { success: false, error: { code, message: example, ...exampleDetails } }

  expect(ErrorResponse.parse(failure)).toEqual(failure)
})
