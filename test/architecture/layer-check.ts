import { cruise, type ICruiseResult, type IDependency } from 'dependency-cruiser';
import { layers, type Layer } from './layers.ts';

interface Violation {
  /** Relative to src/. */
  readonly file: string;
  /** As the import names it. */
  readonly target: string;
  readonly reason: string;
}

export interface LayerReport {
  /** The modules below src/ that were read. Whoever asserts "no violations" asserts this too. */
  readonly files: readonly string[];
  readonly violations: readonly Violation[];
}

/** Judges every import below `<root>/src` by the layer table. dependency-cruiser reads and resolves; the table decides. */
export async function checkLayers(root: string): Promise<LayerReport> {
  const modules = (await readModules(root)).filter((module) => module.source.startsWith('src/'));
  const violations = modules.flatMap((module) => {
    const file = withoutSrc(module.source);
    const layer = layerOf(file);
    if (layer === undefined) return [{ file, target: file, reason: 'belongs to no layer' }];
    return module.dependencies.flatMap((dependency) => {
      const reason = judge(layer, dependency);
      return reason === undefined ? [] : [{ file, target: dependency.module, reason }];
    });
  });
  return { files: modules.map((module) => withoutSrc(module.source)), violations };
}

async function readModules(root: string): Promise<ICruiseResult['modules']> {
  const { output } = await cruise(
    ['src'],
    { baseDir: root, tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' } },
    // Without these, packages that have an `exports` map count as not resolvable.
    { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  );
  if (typeof output === 'string') throw new Error('dependency-cruiser returned a rendered report instead of its data');
  return output.modules;
}

function judge(layer: Layer, dependency: IDependency): string | undefined {
  const { module: target, resolved, couldNotResolve, dependencyTypes, dynamic } = dependency;
  if (dependencyTypes.includes('core')) {
    const nodeModule = `node:${target}`;
    return layer.nodeModules.includes(nodeModule) ? undefined : `${layer.path} may not import ${nodeModule}`;
  }
  if (couldNotResolve) return 'could not be resolved';
  if (!target.startsWith('.')) {
    const name = packageNameOf(target);
    return layer.packages.includes(name) ? undefined : `${layer.path} may not import the package ${name}`;
  }
  if (!resolved.startsWith('src/')) return 'leaves src/';
  return judgeLocal(layer, withoutSrc(resolved), dynamic);
}

function judgeLocal(layer: Layer, file: string, dynamic: boolean): string | undefined {
  const reachable = [layer.path, ...layer.layers, ...(dynamic ? (layer.dynamicLayers ?? []) : [])];
  return reachable.some((path) => covers(path, file))
    ? undefined
    : `${layer.path} may not import ${layerOf(file)?.path}`;
}

const layerOf = (file: string): Layer | undefined => layers.find((layer) => covers(layer.path, file));

const covers = (path: string, file: string): boolean => file === path || file.startsWith(`${path}/`);

const withoutSrc = (path: string): string => path.slice('src/'.length);

const packageNameOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
