import type { TRPCBuiltRouter, TRPCErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { ApiErrorCode, ErrorData } from '../../contracts/errors.ts'
import type { Contracts } from '../../contracts/index.ts'
import type { ApiProcedure } from '../../contracts/procedure.ts'
import type { InputOfCall } from './templates.ts'

/** An error as it travels over tRPC: `data.code` is the code that REST answers too. */
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

export type RouterRecordOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends ApiProcedure ? ProcedureOf<Tree[Name]> : RouterRecordOf<Tree[Name]>
}

/** The root types of the router; a client needs no more of the server than this. */
export interface RootTypesOf<Context extends object> {
  ctx: Context
  meta: object
  errorShape: ServiceErrorShape
  transformer: false
}

/** The type of the tRPC router, made from the contracts alone: it drags in no server code. */
export type AppRouter = TRPCBuiltRouter<RootTypesOf<object>, RouterRecordOf<Contracts>>
