import { z } from 'zod'
import { line } from '../fields.ts'

/** `owner` may do everything in an account, `viewer` reads. */
export const roles = ['owner', 'viewer'] as const
export const Role = z.enum(roles)
export type Role = z.infer<typeof Role>

/** ID of an account (the customer), such as `acc_01kah39zr4e8m5n6p7q8s9t0vw`. */
export const CustomerId = line(64)

/**
 * Who may call. `anybody`: without a session, such as whoever holds an invitation. `signed-in`: any person
 * with a session. A role: a person who has at least that role in the account that the input names.
 */
export type AllowedCaller = 'anybody' | 'signed-in' | Role

interface Terms<Kind extends 'query' | 'mutation', Input extends z.ZodObject, Output extends z.ZodType> {
  kind: Kind
  admits: AllowedCaller
  summary: string
  input: Input
  output: Output
  /**
   * What the audit log says of a change, in words for a person; where it says nothing, nothing is written. It
   * holds no key, token, secret or recipient.
   */
  audit?: (input: z.output<Input>) => string | undefined
}

/** A procedure of the dashboard. It is served over tRPC only, to a session instead of an API key. */
export interface SettingsContract<
  Kind extends 'query' | 'mutation' = 'query' | 'mutation',
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends Omit<Terms<Kind, Input, Output>, 'audit'> {
  readonly settings: true
  audit: ((input: never) => string | undefined) | undefined
}

export interface SettingsContractTree {
  readonly [name: string]: SettingsContract | SettingsContractTree
}

export function settingsProcedure<
  Kind extends 'query' | 'mutation',
  Input extends z.ZodObject,
  Output extends z.ZodType,
>(terms: Terms<Kind, Input, Output>): SettingsContract<Kind, Input, Output> {
  return { settings: true, audit: undefined, ...terms }
}

/** The input of a procedure about one account, and whatever else it takes. */
export function ofAccount<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ accountId: CustomerId, ...shape })
}

export function isSettingsContract(node: SettingsContract | SettingsContractTree): node is SettingsContract {
  return 'settings' in node && node.settings === true
}
