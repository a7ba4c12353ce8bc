import { z } from 'zod';
import { nearestName } from '../words/nearest-name.ts';

export interface FieldProblem {
  /** With dots; empty for the parameters as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A hostile call may be wrong in a hundred thousand places. */
const maxProblems = 10;

/** What is wrong with parameters, for people; an unknown key names the nearest one that exists. */
export function fieldProblems(schema: z.ZodType, error: z.ZodError): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, issue.path);
      for (const key of issue.keys.slice(0, maxProblems)) problems.push(unknownKey(issue.path, key, known));
    } else {
      problems.push({ path: dotted(issue.path), message: issue.message });
    }
    if (problems.length >= maxProblems) break;
  }
  return problems.slice(0, maxProblems);
}

function unknownKey(path: readonly PropertyKey[], key: string, known: readonly string[]): FieldProblem {
  const nearest = nearestName(key, known);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return { path: shortened(dotted([...path, key])), message: `unknown key${hint}` };
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}

function shortened(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 200)}…`;
}

/** The keys that an object at this path may have; those of every form where it has several. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodDiscriminatedUnion) {
    return [...new Set(schema.options.flatMap((option) => keysAt(option as z.ZodType, path)))]; // zod types the options as its core's
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return keysAt(schema.unwrap() as z.ZodType, path); // as above
  }
  const [key, ...rest] = path;
  if (schema instanceof z.ZodObject) {
    const shape = schema.shape as Readonly<Record<string, z.ZodType>>; // as above
    if (key === undefined) return Object.keys(shape);
    const next = shape[String(key)];
    return next === undefined ? [] : keysAt(next, rest);
  }
  if (schema instanceof z.ZodArray && key !== undefined) return keysAt(schema.element as z.ZodType, rest); // as above
  return [];
}
