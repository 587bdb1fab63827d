#include "tlaloc/cxx/code.h"

namespace tlaloc::cxx {

void suggest(Var& v, const ir::Origin& origin) {
  if (origin.role == ir::Role::cotangent) v.stem = 'd';
  if (origin.role == ir::Role::tangent) v.stem = 't';
  const std::string prefix = origin.role == ir::Role::primal ? "" : std::string(1, v.stem) + "_";
  if (!origin.name.empty()) v.suggest(prefix + origin.name, NameRank::user);
}

bool allocates(const Function& f, const Stmt& s) {
  return s.kind == Stmt::Kind::assign && f.vars[s.target].array &&
         s.value->kind == Expr::Kind::call && s.value->text == f.vars[s.target].type &&
         s.value->args.size() == 1;
}

void each_read(const Stmt& s, const std::function<void(VarId)>& visit) {
  if (s.position) each_read(*s.position, visit);
  if (s.value) each_read(*s.value, visit);
  for (const Assignment& m : s.moves) each_read(*m.value, visit);
  using K = Stmt::Kind;
  if (s.kind == K::store || s.kind == K::push || s.kind == K::append) visit(s.target);
}
void each_write(const Stmt& s, const std::function<void(VarId)>& visit) {
  using K = Stmt::Kind;
  switch (s.kind) {
    case K::assign:
    case K::store:
    case K::set:
    case K::push:
    case K::append:
    case K::count:
      visit(s.target);
      break;
    case K::unpack:
    case K::lambda:
      if (s.kind == K::lambda) visit(s.target);
      for (VarId v : s.params) visit(v);
      break;
    case K::parallel:
      for (const Assignment& m : s.moves) visit(m.target);
      break;
    default:
      break;
  }
}
void each_expr(Stmt& s, const std::function<void(ExprRef&)>& visit) {
  if (s.position) visit(s.position);
  if (s.value) visit(s.value);
  for (Assignment& m : s.moves) visit(m.value);
}
void each_block(Stmt& s, const std::function<void(Block&)>& visit) {
  if (!s.before.empty()) visit(s.before);
  if (!s.body.empty()) visit(s.body);
  if (!s.other.empty()) visit(s.other);
}
void each_block(const Stmt& s, const std::function<void(const Block&)>& visit) {
  each_block(const_cast<Stmt&>(s), [&](Block& b) { visit(b); });
}

}  // namespace tlaloc::cxx
