import type {
  inferTransformedProcedureOutput,
  TRPCBuiltRouter,
  TRPCErrorShape,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
} from '@trpc/server'
import type { z } from 'zod'
import type { ApiErrorCode, ErrorData } from '../../contracts/errors.ts'
import type { Contracts } from '../../contracts/index.ts'
import type { ApiProcedure } from '../../contracts/procedure.ts'
import type { InputOfCall } from './templates.ts'

/** The shape of an error over tRPC: `data.code` is the same code as over REST. */
export type ServiceErrorShape<Code extends ApiErrorCode = ApiErrorCode> = TRPCErrorShape<ErrorData<Code>>

interface TypesOf<C extends ApiProcedure> {
  input: InputOfCall<C>
  output: z.output<C['output']>
  meta: object
  errorShape: ServiceErrorShape<C['errors'][number]>
}

type ProcedureOf<C extends ApiProcedure> = C['kind'] extends 'query'
  ? TRPCQueryProcedure<TypesOf<C>>
  : TRPCMutationProcedure<TypesOf<C>>

/** What a call returns: the same type as that of `inferRouterOutputs<AppRouter>`, also with `exactOptionalPropertyTypes`. */
export type OutputOfCall<C extends ApiProcedure> = inferTransformedProcedureOutput<RootTypesOf<object>, ProcedureOf<C>>

export type RouterRecordOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends ApiProcedure ? ProcedureOf<Tree[Name]> : RouterRecordOf<Tree[Name]>
}

/** The root types of the router, all that a client needs to know about the server. */
export interface RootTypesOf<Context extends object> {
  ctx: Context
  meta: object
  errorShape: ServiceErrorShape
  transformer: false
}

/** The type of the tRPC router, derived from the contracts alone, so that it imports no server code. */
export type AppRouter = TRPCBuiltRouter<RootTypesOf<object>, RouterRecordOf<Contracts>>
