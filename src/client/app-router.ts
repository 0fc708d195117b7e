import type { TRPCBuiltRouter, TRPCErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { ErrorCode, ErrorStatus } from '../../contracts/errors.ts'
import type { Contracts } from '../../contracts/index.ts'
import type { Contract } from '../../contracts/procedure.ts'

/** An error as it travels over tRPC: `data.code` is the code that REST answers too. */
export type ServiceErrorShape<Code extends ErrorCode = ErrorCode> = TRPCErrorShape<{
  code: Code
  httpStatus: ErrorStatus
  /** Whole seconds after which a retry makes sense. */
  retryAfterSeconds?: number
}>

interface TypesOf<C extends Contract> {
  input: z.input<C['input']>
  output: z.output<C['output']>
  meta: object
  errorShape: ServiceErrorShape<C['errors'][number]>
}

type ProcedureOf<C extends Contract> = C['kind'] extends 'query'
  ? TRPCQueryProcedure<TypesOf<C>>
  : TRPCMutationProcedure<TypesOf<C>>

export type RouterRecordOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends Contract ? ProcedureOf<Tree[Name]> : RouterRecordOf<Tree[Name]>
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
