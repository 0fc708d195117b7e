import { z } from 'zod'
import type { Fact, FactParam } from '../facts/fact.ts'

const FactParam: z.ZodType<FactParam> = z.lazy(() =>
  z.union([z.string(), z.number(), z.object({ at: z.string(), english: z.string() }), Fact, z.array(Fact)]),
)

const Fact: z.ZodType<Fact> = z.object({ code: z.string(), params: z.record(z.string(), FactParam).optional() })

/** The facts behind the English sentences of an answer, by field, so that the dashboard can say them in other languages. */
export const Facts = z.record(z.string(), Fact)
