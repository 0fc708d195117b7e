import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/platform/db/schema.ts'

/**
 * Lists everything that a schema consists of, one line for each part: tables with their storage and partitions, columns,
 * constraints, indexes, triggers, functions and comments. Equal schemas have equal lists.
 */
export async function listCatalog(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    with relations as (
      select c.* from pg_class c where c.relnamespace = current_schema()::regnamespace
        and c.relname not like 'waybill_migrations%'
    )
    select format('relation %s kind=%s persistence=%s options=%s access=%s partition=%s parent=%s key=%s replica=%s',
      c.relname, c.relkind, c.relpersistence, c.reloptions, m.amname, pg_get_expr(c.relpartbound, c.oid),
      i.inhparent::regclass, pg_get_partkeydef(c.oid), c.relreplident) as line
    from relations c left join pg_am m on m.oid = c.relam left join pg_inherits i on i.inhrelid = c.oid
    union all
    select format('column %s.%s %s type=%s null=%s default=%s collation=%s storage=%s generated=%s identity=%s', c.relname,
      row_number() over (partition by c.oid order by a.attnum), a.attname, format_type(a.atttypid, a.atttypmod),
      not a.attnotnull, pg_get_expr(d.adbin, d.adrelid), n.collname, a.attstorage, a.attgenerated, a.attidentity)
    from relations c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    left join pg_collation n on n.oid = a.attcollation
    where c.relkind in ('r', 'p')
    union all
    select format('constraint %s.%s %s validated=%s', c.relname, x.conname, pg_get_constraintdef(x.oid), x.convalidated)
    from pg_constraint x join relations c on c.oid = x.conrelid
    union all
    select format('index %s valid=%s', pg_get_indexdef(x.indexrelid), x.indisvalid)
    from pg_index x join relations c on c.oid = x.indrelid
    union all
    select format('trigger %s %s', c.relname, pg_get_triggerdef(t.oid))
    from pg_trigger t join relations c on c.oid = t.tgrelid where not t.tgisinternal
    union all
    select format('function %s', pg_get_functiondef(p.oid)) from pg_proc p
    where p.pronamespace = current_schema()::regnamespace
    union all
    select format('comment %s.%s %s', c.relname, d.objsubid, d.description)
    from pg_description d join relations c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
    order by 1`.execute(db)
  return rows.map(({ line }) => line)
}
